const SVG = 'http://www.w3.org/2000/svg'

/** The mark of the load line, drawn without a parser: the launcher comes before any library. */
export function mark(): SVGElement {
  const picture = document.createElementNS(SVG, 'svg')
  picture.setAttribute('viewBox', '0 0 24 24')
  picture.setAttribute('aria-hidden', 'true')
  const stroke = document.createElementNS(SVG, 'path')
  stroke.setAttribute('d', 'M12 5a7 7 0 1 0 0 14 7 7 0 1 0 0-14M2 12h20')
  picture.append(stroke)
  return picture
}

/** The button in the corner. */
export function launcher(click: () => void): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'launcher'
  button.setAttribute('part', 'launcher')
  const picture = document.createElement('slot')
  picture.name = 'launcher'
  picture.append(mark())
  button.append(picture)
  button.addEventListener('click', click)
  return button
}

/** What the frame shows until the view is there, or instead of it. */
export function waiting(
  text: string,
  action?: { readonly label: string; readonly click: () => void },
): HTMLElement {
  const wait = document.createElement('div')
  wait.className = 'wait'
  wait.role = 'status'
  const paragraph = document.createElement('p')
  paragraph.textContent = text
  wait.append(mark(), paragraph)
  if (action) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = action.label
    button.addEventListener('click', action.click)
    wait.append(button)
  }
  return wait
}
