import type { EventEmitter } from 'node:events'
import { type Boundary, guarded, nothing } from '../../core/unexpected.ts'

/** Calls `closed` when a socket or an answer is closed. A fault in it is caught at the boundary, and ends nothing. */
export function whenClosed(emitter: EventEmitter, boundary: Boundary, closed: () => void): void {
  emitter.on('close', guarded(boundary, nothing, closed))
}
