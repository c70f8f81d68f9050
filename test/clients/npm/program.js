/**
 * Drives a server with the npm client library. Usage: node program.js HOST:PORT SCRATCH-FOLDER
 * Prints one JSON line for each check: {"name","ok","detail"}.
 */
import { mkdirSync } from 'node:fs'
import { configChecks } from './config-checks.js'
import { namingChecks } from './naming-checks.js'
import { freePort, settle } from './report.js'

const [address, scratch] = process.argv.slice(2)
mkdirSync(scratch, { recursive: true })
// The config client shares one connection between the processes of a machine over this port: keep ours apart.
process.env.NODE_CLUSTER_CLIENT_PORT = String(await freePort())
const library = (await import('nacos')).default
const { TEST_USERNAME: username, TEST_PASSWORD: password, TEST_TLS: tls } = process.env
/** What every client is told besides: who signs in, and whether it speaks TLS. */
const options = { ...(username && { username, password }), ...(tls && { ssl: true }) }
const setup = { library, address, scratch, run: Date.now().toString(36), options }

await settle([...configChecks(setup), ...namingChecks(setup)])
// The library keeps timers and sockets that it never closes.
process.exit(0)
