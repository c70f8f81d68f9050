/**
 * `npm run cluster`: three servers on three members of etcd, all on loopback, to try out several servers. Their ports are
 * 8848, 8858 and 8868 (`--port N` sets the first one). The data stays in `data/cluster` (`--data-dir D`). Further flags go
 * to every server: `npm run cluster -- --auth`. Ctrl-C stops all servers.
 */
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

endWithNpm()
await prepare()
const { values, tokens } = parseArgs({
  options: {
    port: { type: 'string', default: '8848' },
    'data-dir': { type: 'string', default: 'data/cluster' },
  },
  strict: false,
  tokens: true,
})
const first = Number(values.port)
const directory = resolve(values['data-dir'])
const own = new Set(['port', 'data-dir'])
const passedOn = tokens
  .filter(({ kind, name }) => kind === 'option' && !own.has(name))
  .map(({ rawName, value }) => {
    return value === undefined ? rawName : `${rawName}=${value}`
  })
const places = NAMES.map((name, index) => ({ name, port: first + index * STEP }))
const endpoints = places.map(({ port }) => urlOf(port + CLIENT_OFFSET))
const children = []
let isStopping = false

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop)
mkdirSync(directory, { recursive: true, mode: 0o700 })
const etcd = await builtEtcd()
for (const place of places) start(`etcd-${place.name}`, etcd, etcdFlags(place))
for (const place of places)
  start(place.name, process.execPath, [join(root, 'dist', 'main.js'), ...serverFlags(place)])

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

/** Starts a process; its lines have its name before them. When one ends by itself, the others go on. */
function start(name, file, args) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream.setEncoding('utf8').on('data', (chunk) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop()
      for (const line of lines) console.log(`${name.padEnd(10)} ${line}`)
    })
  }
  child.on('exit', (code, signal) => {
    if (!isStopping) console.log(`${name.padEnd(10)} has ended (${signal ?? code})`)
  })
}

/** Servers stop before etcd, so that they can say goodbye. */
async function stop() {
  if (isStopping) return
  isStopping = true
  for (const child of [...children.slice(NAMES.length), ...children.slice(0, NAMES.length)]) {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((done) => child.on('exit', done))
      child.kill('SIGTERM')
      await ended
    }
  }
  process.exit(0)
}
