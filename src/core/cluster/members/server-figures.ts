/** The measurements of the last hour, one each `stepMs`, newest last. A server that was started lately has fewer. */
export interface FigureLines {
  /** Answered requests of HTTP and gRPC. */
  readonly requestsPerSecond: readonly number[]
  /** A part of one processor: 2 is all of two processors. */
  readonly processorShare: readonly number[]
  /** Resident memory. */
  readonly memoryBytes: readonly number[]
  /** Open connections of HTTP and gRPC. */
  readonly connections: readonly number[]
  readonly storeBytes: readonly number[]
}

/** The measurements of a server. */
export interface ServerFigures {
  readonly stepMs: number
  /** The files of the store now; of etcd, its largest file. Undefined: it cannot be said. */
  readonly storeBytes: number | undefined
  readonly lines: FigureLines
}
