/**
 * Obeys commands with the npm client library: lines of JSON, {"id":1,"do":"read","client":"a",…}. Answers {"id":1,"value":…} or
 * {"id":1,"error":"…"}, and prints {"watch":"w1","heard":…} for what a listener is told. Usage: node driven.js SCRATCH-FOLDER
 */
import { mkdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { freePort } from './report.js'

const quiet = { info() {}, debug() {}, warn() {}, error() {} }
const [scratch] = process.argv.slice(2)
mkdirSync(scratch, { recursive: true })
// The config client shares one connection between the processes of a machine over this port: keep ours apart.
process.env.NODE_CLUSTER_CLIENT_PORT = String(await freePort())
const library = (await import('nacos')).default
const clients = new Map()

/** One client: its services for configurations and for naming are made when they are first used. */
class Client {
  constructor({ servers, namespace, username, password, requestTimeout }) {
    this.servers = servers
    this.namespace = namespace
    this.options = { ...(username && { username, password }), ...(requestTimeout && { requestTimeout }) }
  }

  /** The client that processes of a machine share waits 3 s for an answer, whatever it is told. */
  configs() {
    const { NacosConfigClient, DataClient } = library
    this.madeConfigs ??= new (this.options.requestTimeout ? DataClient : NacosConfigClient)({
      serverAddr: this.servers,
      namespace: this.namespace,
      cacheDir: scratch,
      ...this.options,
    })
    return this.madeConfigs
  }

  async naming() {
    this.madeNaming ??= this.newNaming()
    return this.madeNaming
  }

  async newNaming() {
    const client = new library.NacosNamingClient({
      logger: quiet,
      serverList: this.servers,
      namespace: this.namespace || 'public',
      ...this.options,
    })
    client.on('error', (error) => process.stderr.write(`${error.message}\n`))
    await client.ready()
    return client
  }
}

const COMMANDS = {
  publish: (client, { dataId, group, content }) => client.configs().publishSingle(dataId, group, content),
  read: (client, { dataId, group }) => client.configs().getConfig(dataId, group),
  remove: (client, { dataId, group }) => client.configs().remove(dataId, group),
  listen: (client, { dataId, group, watch }) => {
    client.configs().subscribe({ dataId, group }, (content) => tell(watch, content ?? ''))
    return true
  },
  register: async (client, { service, group, instance }) => {
    const { ip, port, cluster, weight, ephemeral, metadata } = instance
    const own = { ip, port, clusterName: cluster, weight, ephemeral, metadata }
    await (await client.naming()).registerInstance(service, own, group)
    return true
  },
  deregister: async (client, { service, group, instance: { ip, port, cluster } }) => {
    await (await client.naming()).deregisterInstance(service, { ip, port, clusterName: cluster }, group)
    return true
  },
  /** A fresh client for each read: the library never forgets the last instance of a service. */
  instances: async (client, { service, group, clusters }) => {
    const reader = await client.newNaming()
    const hosts = await reader.getAllInstances(service, group, clusters.join(), false)
    await reader.close()
    return hosts.map(seen)
  },
  list: async (client, { service, group }) =>
    (await (await client.naming()).getAllInstances(service, group)).map(seen),
  subscribe: async (client, { service, group, clusters, watch }) => {
    const info = { serviceName: service, groupName: group, clusters: clusters.join() }
    ;(await client.naming()).subscribe(info, (hosts) => tell(watch, hosts.map(seen)))
    return true
  },
}

function seen({ ip, port, weight, healthy, enabled, ephemeral, clusterName: cluster, metadata }) {
  return { ip, port, weight, healthy, enabled, ephemeral, cluster, metadata }
}

function tell(watch, heard) {
  print({ watch, heard })
}

function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

async function obey({ id, ...command }) {
  try {
    if (command.do === 'open') clients.set(command.client, new Client(command))
    else if (!COMMANDS[command.do]) throw new Error(`unknown command ${command.do}`)
    else
      return print({ id, value: (await COMMANDS[command.do](clients.get(command.client), command)) ?? null })
    print({ id, value: true })
  } catch (error) {
    print({ id, error: String(error?.message ?? error) })
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => obey(JSON.parse(line)))
  // The library keeps timers and sockets that it never closes.
  .on('close', () => process.exit(0))
