/** A SharedWorker: one stream of events for all pages of the browser. */
import { openConnection } from './event-connection.ts'
import type { LiveMessage, LiveRequest } from './live-message.ts'

const pages = new Set<MessagePort>()
const connection = openConnection((message) => pages.forEach((page) => page.postMessage(message)))

addEventListener('connect', (event) => {
  const [page] = (event as MessageEvent).ports
  if (page === undefined) return
  page.onmessage = ({ data }: MessageEvent<LiveRequest>) => {
    if (data.type === 'leave') return leave(page)
    const isNew = !pages.has(page)
    pages.add(page)
    connection.start(data.address)
    if (!isNew) return
    const { state } = connection
    tell(page, { type: 'state', state })
    // Data that this page has read so far may have changed before the worker knew of the page.
    if (state === 'live') tell(page, { type: 'reset' })
  }
})

function leave(page: MessagePort): void {
  pages.delete(page)
  if (pages.size === 0) connection.stop()
}

function tell(page: MessagePort, message: LiveMessage): void {
  page.postMessage(message)
}
