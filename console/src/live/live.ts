import { eventsAddress, type LiveEvent } from '../server/events.ts'
import { isSomebodyHere, onReturn } from '../state/presence.ts'
import { Store } from '../state/store.ts'
import { workerScript } from '../workers/trusted-scripts.ts'
import { openConnection } from '../workers/event-connection.ts'
import type { ConnectionState, LiveMessage, LiveRequest } from '../workers/live-message.ts'
import { Refresher } from './refresher.ts'

/** Without a connection, what is shown is read again this often. */
const FALLBACK_MS = 5_000
/** How often the page checks whether somebody looks at it again. */
const LOOK_MS = 1_000

/** How this page is connected. */
export const connection = new Store<ConnectionState>('connecting')

interface Follower {
  readonly isMeant: (event: LiveEvent) => boolean
  readonly refresher: Refresher
}

const followers = new Set<Follower>()

/** Calls `refresh` when something has changed that is meant, soon and never twice at once, until the answer is called. */
export function follow(isMeant: (event: LiveEvent) => boolean, refresh: () => Promise<void>): () => void {
  const refresher = new Refresher({
    refresh,
    isWanted,
    after: (ms, run) => void setTimeout(run, ms),
    now: () => performance.now(),
  })
  const follower = { isMeant, refresher }
  followers.add(follower)
  return () => {
    refresher.stop()
    followers.delete(follower)
  }
}

/**
 * Nobody sees a hidden page, and questions of a page that nobody uses would keep the session from ending. The subject of an open
 * dialog does not change meanwhile.
 */
const isWanted = (): boolean =>
  !document.hidden && isSomebodyHere() && document.querySelector('dialog[open]') === null

function hear(message: LiveMessage): void {
  switch (message.type) {
    case 'state':
      return connection.set(message.state)
    case 'reset':
      return followers.forEach(({ refresher }) => refresher.mark())
    case 'changed':
      for (const { isMeant, refresher } of followers) if (isMeant(message.event)) refresher.mark()
  }
}

/** A way to the events. */
interface Way {
  start(): void
}

let way: Way | undefined

/** Connects, if this page is not connected yet. Call it when somebody is signed in. */
export function startLive(): void {
  way ??= shared() ?? own()
  way.start()
}

/** Tries to connect now, where the page waits to do so. */
export const connectNow = (): void => way?.start()

addEventListener('online', connectNow)

/** One stream for all pages of this browser; undefined where it has no shared workers. */
function shared(): Way | undefined {
  if (!('SharedWorker' in globalThis)) return undefined
  const worker = new SharedWorker(workerScript('live'), { type: 'module', name: 'waypost-live' })
  const send = (type: LiveRequest['type']): void =>
    worker.port.postMessage({ type, address: eventsAddress() })
  worker.port.onmessage = ({ data }: MessageEvent<LiveMessage>) => hear(data)
  worker.onerror = () => {
    way = own()
    way.start()
  }
  addEventListener('pagehide', () => send('leave'))
  addEventListener('pageshow', ({ persisted }) => persisted && send('start'))
  return { start: () => send('start') }
}

/** A stream of this page, while it is visible. */
function own(): Way {
  const stream = openConnection(hear)
  const start = (): void => (document.hidden ? stream.stop() : stream.start(eventsAddress()))
  document.addEventListener('visibilitychange', start)
  return { start }
}

const returned = (): void => followers.forEach(({ refresher }) => refresher.returned())

onReturn(returned)
document.addEventListener('close', returned, true)
setInterval(returned, LOOK_MS)
setInterval(() => {
  if (connection.value !== 'live') followers.forEach(({ refresher }) => refresher.mark())
}, FALLBACK_MS)
