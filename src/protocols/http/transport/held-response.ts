import type { ServerResponse } from 'node:http'

/** Who is told that the connection of an answer that it holds is closed. */
export interface Holder {
  connectionClosed(): void
}

const HOLDER = Symbol('who holds this answer')

/** One property and one shared listener: nothing else is made for each of thousands of held polls. */
interface HeldResponse extends ServerResponse {
  [HOLDER]?: Holder
}

/** Tells `holder` when the connection closes, after the answer or because the client has left. */
export function tellOfClose(response: ServerResponse, holder: Holder): void {
  ;(response as HeldResponse)[HOLDER] = holder
  response.on('close', onClose)
}

function onClose(this: HeldResponse): void {
  this[HOLDER]?.connectionClosed()
}
