import type { Socket } from 'node:net'
import { guarded, nothing } from '../core/unexpected.ts'

/** The limits of the peer port. */
export interface PeerRoom {
  /** Connections that have not shown a signed question yet. */
  readonly strangers: number
  /** Connections that have. */
  readonly members: number
  /** How long a connection may take to show a question, ms. */
  readonly strangerMs: number
  /** How long a member's connection may go without a question, ms. */
  readonly idleMs: number
}

interface Member {
  /** The id of the secret that its connection has shown; undefined: a signed question alone. */
  readonly secretId: string | undefined
  /** Monotonic ms. */
  readonly askedMs: number
}

interface Stranger {
  readonly address: string
  readonly timer: NodeJS.Timeout
}

/**
 * The connections of the peer port. A connection with a signed question, or with the secret, belongs to a member and has a
 * place apart from strangers. No new connection is refused: if all places are taken, an older connection is closed. Among
 * strangers this is the oldest connection of the address with most connections, among members the least recently used one.
 */
export class PeerPlaces {
  readonly #room: PeerRoom
  /** The oldest first. */
  readonly #strangers = new Map<Socket, Stranger>()
  readonly #strangersOf = new Map<string, number>()
  /** The connections of members, ordered by their last question, the oldest first. */
  readonly #members = new Map<Socket, Member>()
  /** Connections that were closed because no signed question came, or came too late. */
  closedStrangers = 0

  constructor(room: PeerRoom) {
    this.#room = room
  }

  /** Gives a new connection a place for a short time. */
  admit(socket: Socket): void {
    const close = guarded('connection', nothing, () => this.#closeStranger(socket))
    const timer = setTimeout(close, this.#room.strangerMs).unref()
    const address = socket.remoteAddress ?? ''
    this.#strangers.set(socket, { address, timer })
    this.#strangersOf.set(address, (this.#strangersOf.get(address) ?? 0) + 1)
    socket.once(
      'close',
      guarded('connection', nothing, () => this.#forget(socket)),
    )
    if (this.#strangers.size > this.#room.strangers) this.#closeStranger(this.#oldestStranger())
  }

  /** A connection has shown a signed question, or the secret with this id. */
  asked(socket: Socket, secretId?: string): void {
    // A connection that was closed meanwhile takes no place.
    if (socket.destroyed) return
    const known = this.#members.get(socket)
    this.#forget(socket)
    this.#members.set(socket, { secretId: secretId ?? known?.secretId, askedMs: performance.now() })
    if (this.#members.size <= this.#room.members) return
    const [eldest] = this.#members.keys()
    this.#members.delete(eldest!)
    eldest!.destroy()
  }

  /** Closes the connections of members that have asked nothing for long, or whose secret does not count any longer. */
  closeEnded(nowMs: number, isCounting: (secretId: string) => boolean): void {
    for (const [socket, { secretId, askedMs }] of this.#members) {
      const isEnded = secretId !== undefined && !isCounting(secretId)
      if (!isEnded && nowMs - askedMs < this.#room.idleMs) continue
      this.#members.delete(socket)
      socket.destroy()
    }
  }

  /** Closes all connections. */
  closeAll(): void {
    for (const socket of [...this.#strangers.keys(), ...this.#members.keys()]) socket.destroy()
  }

  #closeStranger(socket: Socket | undefined): void {
    if (socket === undefined) return
    this.closedStrangers++
    this.#forget(socket)
    socket.destroy()
  }

  #oldestStranger(): Socket | undefined {
    const most = Math.max(...this.#strangersOf.values())
    for (const [socket, { address }] of this.#strangers)
      if (this.#strangersOf.get(address) === most) return socket
    return undefined
  }

  #forget(socket: Socket): void {
    this.#members.delete(socket)
    const stranger = this.#strangers.get(socket)
    if (stranger === undefined) return
    clearTimeout(stranger.timer)
    this.#strangers.delete(socket)
    const left = (this.#strangersOf.get(stranger.address) ?? 1) - 1
    if (left === 0) this.#strangersOf.delete(stranger.address)
    else this.#strangersOf.set(stranger.address, left)
  }
}
