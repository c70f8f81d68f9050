/** Lines of a plan, which bring the state of another server, and how an administrator sends them. */
import type { ManagedWaypost } from './administrator.ts'

export const PLAN_HEAD = { kind: 'plan', format: 1, madeMs: 1, sources: [], counts: {}, lastRefMs: 0 }

const ITEM = {
  namespace: '',
  group: 'G',
  content: 'x',
  md5: null,
  encryptedDataKey: '',
  appName: '',
  type: 'text',
  user: 'ann',
  ip: '10.0.0.1',
}
const CONFIG = {
  ...ITEM,
  desc: null,
  use: null,
  effect: null,
  schema: null,
  tags: null,
  createdMs: 1,
  modifiedMs: 1,
}
const HISTORY = { ...ITEM, op: 'U', atMs: 1 }
const { type: _type, user: _user, ip: _ip, ...TEXT } = ITEM
const GRAY = { ...TEXT, name: 'v', priority: null, modifiedMs: null }
const SERVICE = {
  namespace: '',
  group: 'G',
  protectThreshold: 0.5,
  selector: { type: 'none', expression: '' },
  metadata: {},
  clusters: [],
  ephemeral: null,
}
const INSTANCE = {
  namespace: '',
  group: 'G',
  cluster: 'DEFAULT',
  ip: '10.0.0.1',
  port: 80,
  ephemeral: false,
  weight: 1,
  enabled: true,
  healthy: true,
  metadata: {},
  app: '',
  seenMs: 1,
}

export const configLine = (dataId: string, more?: object) => ({ kind: 'config', ...CONFIG, dataId, ...more })
export const historyLine = (dataId: string, oldId: string, more?: object) => {
  return { kind: 'history', ...HISTORY, dataId, oldId, ...more }
}
export const grayLine = (dataId: string, more: object) => ({ kind: 'gray', ...GRAY, dataId, ...more })
export const namespaceLine = (id: string, more?: object) => ({
  kind: 'namespace',
  id,
  name: 'n',
  desc: '',
  ...more,
})
export const serviceLine = (name: string, more?: object) => ({ kind: 'service', ...SERVICE, name, ...more })
export const instanceLine = (service: string, more?: object) => {
  return { kind: 'instance', ...INSTANCE, service, ...more }
}

/** The text of a plan. */
export const planOf = (lines: readonly object[], head: object = PLAN_HEAD): string =>
  [head, ...lines].map((line) => JSON.stringify(line)).join('\n')

/** Imports a plan, by default as the administrator of the server. */
export async function sendPlan(
  { waypost, tokenOf }: Pick<ManagedWaypost, 'waypost' | 'tokenOf'>,
  body: string | Buffer,
  { query = {}, token }: { query?: Record<string, string>; token?: string } = {},
) {
  const credentials = token ?? (await tokenOf('nacos'))
  const headers: Record<string, string> = { 'content-type': 'application/x-ndjson' }
  if (credentials !== '') headers['authorization'] = `Bearer ${credentials}`
  const url = `${waypost.url}/svc/v1/operator/import?${new URLSearchParams(query)}`
  const response = await fetch(url, { method: 'POST', headers, body })
  return { status: response.status, json: JSON.parse(await response.text()) }
}
