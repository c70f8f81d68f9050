/** `npm run cluster`: three servers on three members of etcd, all on loopback, to try out several servers. See USAGE. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { builtEtcd } from './etcd.js'
import { endWithNpm, prepare, root } from './prepare.js'

const NAMES = ['one', 'two', 'three']
/** The ports of the servers are so far apart, and those of etcd so far from them. */
const STEP = 10
const CLIENT_OFFSET = 3_000
const PEER_OFFSET = 3_001
const MOST_PORT = 65_535 - PEER_OFFSET - 2 * STEP

const USAGE = `npm run cluster -- [--port N] [--data-dir DIR] [--FLAG[=VALUE] …]

Starts three servers on three members of etcd on this machine, to try them. The first start builds etcd: some minutes.
  --port N         the HTTP port of the first server (8848); all others follow from it
  --data-dir DIR   where etcd keeps the data (data/cluster)
  --FLAG[=VALUE]   goes to each server, such as --auth
Ctrl-C stops all.
`

const { values, tokens } = parseArgs({
  options: {
    port: { type: 'string', default: '8848' },
    'data-dir': { type: 'string', default: 'data/cluster' },
    help: { type: 'boolean', short: 'h' },
  },
  strict: false,
  tokens: true,
})
const first = Number(values.port)
if (!/^\d+$/.test(values.port) || first < 1 || first > MOST_PORT)
  refuse(`--port must be a number from 1 to ${MOST_PORT}`)
const places = NAMES.map((name, index) => ({ name, port: first + index * STEP }))
if (values.help) {
  console.log(`${USAGE}\n${portLines()}`)
  process.exit(0)
}
const word = tokens.find(({ kind }) => kind === 'positional')
if (word !== undefined) refuse(`write --flag=value instead of a word of its own: ${word.value}`)
if (typeof values['data-dir'] !== 'string' || values['data-dir'] === '')
  refuse('--data-dir must be a directory')
const directory = resolve(values['data-dir'])
const own = new Set(['port', 'data-dir', 'help'])
const passedOn = tokens
  .filter(({ kind, name }) => kind === 'option' && !own.has(name))
  .map(({ rawName, value }) => {
    return value === undefined ? rawName : `${rawName}=${value}`
  })
const endpoints = places.map(({ port }) => urlOf(port + CLIENT_OFFSET))
const children = []
let isStopping = false

endWithNpm()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
await prepare()
mkdirSync(directory, { recursive: true, mode: 0o700 })
const etcd = await builtEtcd()
console.log(`${portLines()}\nCtrl-C stops all. The data is in ${directory}.`)
for (const place of places) start(`etcd-${place.name}`, etcd, etcdFlags(place))
for (const place of places)
  start(place.name, process.execPath, [join(root, 'dist', 'main.js'), ...serverFlags(place)])

function portLines() {
  const lines = places.map(({ name, port }) => {
    const etcds = `etcd ${port + CLIENT_OFFSET} and ${port + PEER_OFFSET}`
    return `${name.padEnd(10)} ${urlOf(port)}/ui, gRPC ${port + 1_000}, other servers ${port + 2_000}, ${etcds}`
  })
  return lines.join('\n')
}

function refuse(message) {
  console.error(`cluster: ${message} (npm run cluster -- --help)`)
  process.exit(2)
}

function etcdFlags({ name, port }) {
  const client = urlOf(port + CLIENT_OFFSET)
  const peer = urlOf(port + PEER_OFFSET)
  const flags = {
    name,
    'data-dir': join(directory, name),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': places.map((one) => `${one.name}=${urlOf(one.port + PEER_OFFSET)}`).join(','),
    'auto-compaction-mode': 'periodic',
    'auto-compaction-retention': '10m',
    'log-level': 'error',
  }
  return Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
}

function serverFlags({ port }) {
  return ['start', '--store=etcd', `--etcd-endpoints=${endpoints.join(',')}`, `--port=${port}`, ...passedOn]
}

function urlOf(port) {
  return `http://127.0.0.1:${port}`
}

/**
 * Starts a process; its lines have its name before them. When one ends by itself, the others go on. Its group is its own:
 * Ctrl-C in a terminal would end etcd before the servers.
 */
function start(name, file, args) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  children.push(child)
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream.setEncoding('utf8').on('data', (chunk) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop()
      // The last words of etcd are stack traces about its end.
      if (isStopping && file === etcd) return
      for (const line of lines) console.log(`${name.padEnd(10)} ${line}`)
    })
  }
  child.on('exit', (code, signal) => {
    if (!isStopping) console.log(`${name.padEnd(10)} has ended (${signal ?? code})`)
  })
}

/** Servers stop before etcd, so that they can say goodbye. A second signal ends all at once. */
async function stop() {
  if (isStopping) {
    for (const child of children) child.kill('SIGKILL')
    return
  }
  isStopping = true
  console.log('Stopping…')
  await Promise.all(children.slice(NAMES.length).map(end))
  await Promise.all(children.slice(0, NAMES.length).map(end))
  console.log('All have ended.')
  process.exit(0)
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((done) => child.on('exit', done))
  child.kill('SIGTERM')
  await ended
}
