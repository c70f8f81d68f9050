/** `npm start`: installs and builds what is missing or changed, then runs the server in this process. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { endWithNpm, prepare, root } from './prepare.js'

endWithNpm()
await prepare()
const main = join(root, 'dist', 'main.js')
process.argv = [process.argv[0], main, 'start', ...process.argv.slice(2)]
await import(pathToFileURL(main).href)
