/** A SharedWorker: one stream of events for all pages of the browser that have the same user. */
import { type EventConnection, openConnection } from './event-connection.ts'
import type { LiveMessage, LiveRequest } from './live-message.ts'

/** A stream, and the pages that get its events. */
interface Line {
  readonly connection: EventConnection
  readonly pages: Set<MessagePort>
}

/** By the address of the stream, which names its user. */
const lines = new Map<string, Line>()

addEventListener('connect', (event) => {
  const [page] = (event as MessageEvent).ports
  if (page === undefined) return
  page.onmessage = ({ data: { type, address } }: MessageEvent<LiveRequest>) => {
    for (const each of lines.keys()) if (type === 'leave' || each !== address) leave(each, page)
    if (type === 'start') join(lines.get(address) ?? begun(address), address, page)
  }
})

function begun(address: string): Line {
  const pages = new Set<MessagePort>()
  const tellAll = (message: LiveMessage): void => pages.forEach((page) => page.postMessage(message))
  const line = { pages, connection: openConnection(tellAll) }
  lines.set(address, line)
  return line
}

function join({ connection, pages }: Line, address: string, page: MessagePort): void {
  const isNew = !pages.has(page)
  pages.add(page)
  connection.start(address)
  if (!isNew) return
  const { state } = connection
  tell(page, { type: 'state', state })
  // Data that this page has read so far may have changed before the worker knew of the page.
  if (state === 'live') tell(page, { type: 'reset' })
}

function leave(address: string, page: MessagePort): void {
  const line = lines.get(address)
  if (line?.pages.delete(page) !== true || line.pages.size > 0) return
  line.connection.stop()
  lines.delete(address)
}

function tell(page: MessagePort, message: LiveMessage): void {
  page.postMessage(message)
}
