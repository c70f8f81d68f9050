/** Builds etcd for the tests, from its Go module into .cache/etcd. Run by itself it prints the file. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtGoProgram } from './go-program.js'
import { root } from './prepare.js'

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await builtEtcd())

/** The file of the etcd server, built if it is not there yet. Rejects with the output of Go if it cannot be built. */
export function builtEtcd() {
  return builtGoProgram('etcd', join(root, 'scripts', 'etcd-server'))
}
