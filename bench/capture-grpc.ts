import { setTimeout as sleep } from 'node:timers/promises'
import { openGrpcWires } from './grpc-clients.ts'
import type { GrpcSetup, ReadyMessage } from './grpc-floor.ts'
import type { Heard } from './grpc-wire.ts'
import { requestPaths } from './paths.ts'
import { configContent, publishForm, registerForm } from './request-text.ts'

const SET = { base: 'captured', count: 10, perService: 10, lasting: true }
const ITEM = { dataId: 'captured', group: 'DEFAULT_GROUP', tenant: '' }
const SERVICE = { namespace: 'public', groupName: 'DEFAULT_GROUP', serviceName: `${SET.base}-0` }
const BATCH = { ...SERVICE, serviceName: 'captured-batch', type: 'batchRegisterInstance', instances: [] }
const LONGEST_MS = 10_000

/** The requests whose answers the floor has. */
const ASKED = {
  HealthCheckRequest: {},
  ServiceQueryRequest: { ...SERVICE, cluster: '', healthyOnly: false },
  SubscribeServiceRequest: { ...SERVICE, subscribe: true, clusters: '' },
  BatchInstanceRequest: BATCH,
  ConfigBatchListenRequest: { listen: true, configListenContexts: [{ ...ITEM, md5: '' }] },
  ConfigQueryRequest: ITEM,
}

/** The messages of the floor over gRPC: the same as those of the server at `base`. */
export async function captureGrpc(base: string): Promise<GrpcSetup> {
  const pushed = new Map<string, ReadyMessage>()
  const [wire] = await openGrpcWires(base, 1, (heard) => void pushed.set(heard.type, readyOf(heard)))
  const { instance, configs } = requestPaths(base)
  for (let index = 0; index < SET.count; index++) await post(instance, registerForm(SET, index, 0))
  await post(configs, publishForm(ITEM.dataId, configContent(0)))
  const answers: Record<string, ReadyMessage> = {}
  for (const [type, body] of Object.entries(ASKED))
    answers[type] = readyOf(await wire!.ask(type, JSON.stringify(body)))
  await post(instance, registerForm(SET, 0, 1))
  await post(configs, publishForm(ITEM.dataId, configContent(1)))
  const list = await heard(pushed, 'NotifySubscriberRequest')
  const change = await heard(pushed, 'ConfigChangeNotifyRequest')
  wire!.close()
  const path = (url: string): string => `POST ${new URL(url).pathname}`
  return {
    answers,
    pushes: {
      [path(instance)]: { ...list, askedBy: 'SubscribeServiceRequest' },
      [path(configs)]: { ...change, askedBy: 'ConfigBatchListenRequest' },
    },
  }
}

function readyOf({ type, body }: Heard): ReadyMessage {
  return { type, body: body.toString('utf8') }
}

async function post(url: string, form: string): Promise<void> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const { status } = await fetch(url, { method: 'POST', headers, body: form })
  if (status !== 200) throw new Error(`${url} was answered ${status}.`)
}

async function heard(pushed: ReadonlyMap<string, ReadyMessage>, type: string): Promise<ReadyMessage> {
  const until = performance.now() + LONGEST_MS
  while (performance.now() < until) {
    const message = pushed.get(type)
    if (message !== undefined) return message
    await sleep(10)
  }
  throw new Error(`The server sent no ${type}.`)
}
