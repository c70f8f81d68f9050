import type { Viewer } from '../../../core/config/state/viewer.ts'
import { labelName } from '../../../core/config/state/gray-rule.ts'
import type { ClientConnection, ClientFacts } from '../connections/client-connection.ts'
import type { RequestContext } from '../requests/request-type.ts'

const TAG = 'Vipserver-Tag'
/** Applications name their own labels; libraries put this before. */
const OWN_LABEL = 'app_'

/** The viewers of connected clients. */
const VIEWERS = new WeakMap<ClientConnection, Viewer>()

/**
 * A connected client, as gray versions tell clients apart: its address is the one that it says of itself, which works
 * behind a NAT too. `tag`: the request asks for the version of that tag alone. A header of the request may name another
 * tag than its labels. Java sends one with each query and each listening, if its address server has named a tag.
 */
export function connectedViewer({ connection, headers }: RequestContext, tag?: string): Viewer {
  const who = viewerOfConnection(connection)
  if (tag !== undefined) return { ip: who.ip, tag, asksForTag: true }
  const named = headers.get(TAG.toLowerCase())
  return named === undefined || named === '' || named === who.tag ? who : { ...who, tag: named }
}

/** The same for all that a connection listens to. */
export function viewerOfConnection(connection: ClientConnection): Viewer {
  const known = VIEWERS.get(connection)
  if (known !== undefined) return known
  const { ip, client } = connection
  const labels = labelsOf(client)
  const who: Viewer = {
    ip: client.clientIp === '' ? ip : client.clientIp,
    tag: labels.get(TAG) ?? client.labels.get(TAG),
    labels,
  }
  VIEWERS.set(connection, who)
  return who
}

/** The labels of viewers by the sent labels, which connections share whose clients say the same of themselves. */
const LABELS = new WeakMap<ClientFacts['labels'], ReadonlyMap<string, string>>()

function labelsOf(client: ClientFacts): ReadonlyMap<string, string> {
  const known = LABELS.get(client.labels)
  if (known !== undefined) return known
  const labels = new Map<string, string>()
  for (const [name, value] of client.labels)
    if (name.startsWith(OWN_LABEL)) labels.set(labelName(name.slice(OWN_LABEL.length)), value)
  labels.set('AppName', client.appName)
  if (client.version !== '') labels.set('ClientVersion', client.version)
  LABELS.set(client.labels, labels)
  return labels
}
