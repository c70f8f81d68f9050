/** Builds helm for the tests and the release, from its Go module into .cache/helm. Run by itself it prints the file. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtGoProgram } from './go-program.js'
import { root } from './prepare.js'

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await builtHelm())

/** The file of helm, built if it is not there yet. Rejects with the output of Go if it cannot be built. */
export function builtHelm() {
  return builtGoProgram('helm', join(root, 'scripts', 'helm'), 'helm.sh/helm/v3/cmd/helm')
}
