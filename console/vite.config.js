import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const SERVER = process.env.WAYPOST_URL ?? 'http://127.0.0.1:8848'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Relative addresses: the page works below any path of a proxy.
  base: './',
  cacheDir: '../.cache/vite',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // Workers load the readers of formats on demand.
  worker: { format: 'es' },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // A data: address would be barred by the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // One file for the first view: otherwise each view that is loaded later would split it.
      output: { codeSplitting: { groups: [{ name: 'first-view', tags: ['$initial'] }] } },
    },
  },
  // For `npx vite console` beside a running server.
  server: { proxy: { '/svc': SERVER, '/nacos': SERVER, '/openapi.json': SERVER } },
})
