const RELEASE_MS = 60_000

/** Has the browser save a file, under a name. */
export function saveFile(name: string, file: Blob): void {
  const url = URL.createObjectURL(file)
  saveFrom(name, url)
  setTimeout(() => URL.revokeObjectURL(url), RELEASE_MS)
}

/** @param url `blob:` or `data:` */
export function saveFrom(name: string, url: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}
