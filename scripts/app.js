/**
 * `npm run app -- --out DIR [--arch x64|arm64]`: lays out `/app`, which the Dockerfile and `npm run image` copy. The directory must
 * not exist.
 */
import { existsSync } from 'node:fs'
import { layOutApp } from './packaging/app.js'
import { readFlags, runScript } from './packaging/packing.js'

await runScript(async () => {
  const { arch, out } = readFlags('release/app')
  if (existsSync(out)) throw new Error(`${out} exists already`)
  await layOutApp(out, { arch })
  console.log(out)
})
