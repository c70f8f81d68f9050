/** All that protocols and the reference of errors say of one refusal. */
export interface RefusalRow {
  /** The status of HTTP. `/nacos` differs in a few, see nacos-errors.ts. */
  readonly http: number
  /** The errorCode of gRPC, where it is not the status. Clients know 300 (no such item), 403 (sign in again), 409 and 500. */
  readonly grpc?: number
  /** The text that clients of both kinds know. */
  readonly known?: string
  /** The text that clients of `/nacos` know, with the names of the refusal; see `nacosMessage`. */
  readonly nacos?: string
  /** Its name in a list of problems: short, and the same every time. */
  readonly title: string
  /** When it is given, and what to do then: docs/errors.md. */
  readonly meaning: string
}
