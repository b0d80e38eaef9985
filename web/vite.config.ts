import { defineConfig } from 'vite'
import { bundledLicenses } from '../vite.licenses.ts'
import { serviceWorker } from './service-worker.ts'

/** `--mode static`: for any host, under any path, with the memory of the browser alone. */
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  base: mode === 'static' ? './' : '/',
  plugins: [bundledLicenses(), serviceWorker()],
}))
