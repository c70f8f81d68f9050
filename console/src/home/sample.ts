import { deleteConfig, publishConfig, readConfig } from '../server/configs.ts'
import { createNamespace, removeNamespace } from '../server/namespaces.ts'
import { dismissLost } from '../server/overview.ts'
import { beat, deleteService, deregister, register, type ServiceName } from '../server/services.ts'

const ITEMS = {
  'shop.yaml': 'server:\n  port: 8080\n  timeout: 60s\nprices:\n  currency: EUR\n',
  'limits.properties': limitsOf(1),
}
const CHANGING = 'limits.properties'
const SERVICES: Readonly<Record<string, readonly string[]>> = {
  orders: ['10.0.0.11', '10.0.0.12'],
  payments: ['10.0.0.21'],
}
/** A hidden page is woken up once a minute only: its instances must last longer. */
const METADATA = JSON.stringify({
  'preserved.heart.beat.timeout': '90000',
  'preserved.ip.delete.timeout': '120000',
})
const BEAT_MS = 5_000
const CHANGE_MS = 10_000

let timers: ReturnType<typeof setInterval>[] = []

/** Makes a namespace with two items and two services, and keeps them while the page is open. */
export async function fillWithSample(id: string): Promise<void> {
  await createNamespace(id, 'Sample', '')
  for (const [dataId, content] of Object.entries(ITEMS)) await publish(id, dataId, content)
  await forEachInstance(id, (name, place) => register(name, { ...place, metadata: METADATA }))
  keepSample(id)
}

/** The instances stay, and the item changes, while the page is open. */
export function keepSample(id: string): void {
  if (timers.length > 0) return
  const quietly = (work: () => Promise<unknown>) => (): void => void work().catch(() => undefined)
  timers = [
    setInterval(
      quietly(() => forEachInstance(id, beat)),
      BEAT_MS,
    ),
    setInterval(
      quietly(() => publish(id, CHANGING, limitsOf(1 + Math.floor(99 * Math.random())))),
      CHANGE_MS,
    ),
  ]
}

/** Removes what the sample has made, and nothing else. */
export async function removeSample(id: string): Promise<void> {
  for (const timer of timers) clearInterval(timer)
  timers = []
  await forEachInstance(id, deregister)
  for (const name of namesOf(id)) {
    await dismissLost(name)
    // It may be gone by itself, and somebody may have added an instance.
    await deleteService(name).catch(() => undefined)
  }
  for (const dataId of Object.keys(ITEMS)) {
    const there = await currentOf(id, dataId)
    if (there !== undefined) await deleteConfig(nameOf(id, dataId), there.md5)
  }
  await removeNamespace(id)
}

const nameOf = (tenant: string, dataId: string) => ({ tenant, group: 'DEFAULT_GROUP', dataId })
const currentOf = (id: string, dataId: string) => readConfig(nameOf(id, dataId)).catch(() => undefined)

function limitsOf(requests: number): string {
  return `requests.per.second=${requests}\nretries=3\n`
}

async function publish(id: string, dataId: string, content: string): Promise<void> {
  const there = await currentOf(id, dataId)
  const notes = { type: dataId.split('.')[1]!, desc: '', appName: '', configTags: '', encryptedDataKey: '' }
  const comment = there === undefined ? '' : 'the sample changes it'
  const casMd5 = there?.md5 ?? ''
  await publishConfig({ ...nameOf(id, dataId), ...notes, content, comment, casMd5 })
}

const namesOf = (namespaceId: string): ServiceName[] =>
  Object.keys(SERVICES).map((serviceName) => ({ namespaceId, groupName: 'DEFAULT_GROUP', serviceName }))

async function forEachInstance(
  id: string,
  work: (
    name: ServiceName,
    place: { ip: string; port: number; clusterName: string; ephemeral: true },
  ) => Promise<unknown>,
): Promise<void> {
  for (const name of namesOf(id))
    for (const ip of SERVICES[name.serviceName]!)
      await work(name, { ip, port: 8080, clusterName: 'DEFAULT', ephemeral: true })
}
