/** One list answer as it is sent to subscribers. `lastRefTime` is the packet's own number, by which it is acked. */
export interface PushPacket {
  readonly lastRefTime: number
  readonly datagram: Buffer
}

/** A subscription for the sender of pushes: its address, and the state of its pushes. */
export interface PushTarget {
  readonly address: string
  readonly port: number
  /** The client's User-Agent; it decides how large a datagram may be. */
  readonly agent: string
  /** False from when the subscription has lapsed: nothing is sent again then. */
  readonly subscribed: boolean
  /** The last packet, written by the sender; 0: no packet was sent. */
  newestRef: number
  /** When the client last acked, on the monotonic clock; the sender's. */
  lastAckMs: number
  /** When it was last found that the client does not answer; undefined while it does, or nothing is known. The sender's. */
  silentSinceMs: number | undefined
}

/** The outcomes of pushes since the start. */
export interface PushCounts {
  /** Datagrams sent for the first time. */
  readonly sent: number
  readonly acked: number
  /** Sent once more because no ack had come. */
  readonly resent: number
  /** Given up: no ack after that either. */
  readonly failed: number
}

/** Brings list answers to subscribers, as well as an unreliable network lets it. Nothing here throws or waits. */
export interface PushSender {
  /** Makes the packet of a list answer (JSON), to be sent to many; undefined when no client could take it. */
  pack(answer: Buffer): PushPacket | undefined
  /** Whether this client is reachable and accepts a datagram of this number of bytes. */
  fits(target: PushTarget, bytes: number): boolean
  /** Sends, and once more if no ack comes; then `silentSinceMs` is set, which an ack lifts. */
  send(target: PushTarget, packet: PushPacket): void
  counts(): PushCounts
}
