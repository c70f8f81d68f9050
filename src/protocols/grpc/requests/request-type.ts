import type { Permission, Caller } from '../../../operations/authorisation.ts'
import type { ClientConnection } from '../connections/client-connection.ts'
import type { JsonObject } from '../wire/json.ts'

/** The caller of a request, and its connection. */
export interface RequestContext {
  readonly connection: ClientConnection
  readonly caller: Caller
  /** The headers of the request, by their names in lower case. */
  readonly headers: ReadonlyMap<string, string>
}

/** A kind of request that clients send once their connection is set up. */
export interface RequestType<B> {
  /** Such as `ConfigQueryRequest`. */
  readonly type: string
  /** Such as `ConfigQueryResponse`. */
  readonly answer: string
  /** The permission of the operations which it calls; they judge the resources themselves. */
  readonly permission: Permission
  /** The body, checked. `null`, `''` and absent keys are made one here. Throws Refusal where a key is wrong. */
  readonly read: (body: JsonObject, call: RequestContext) => B
  /**
   * The own keys of the answer, without `null`; a ReadyJson where the text is at hand. A Refusal becomes the answer of
   * this type with resultCode 500, its errorCode and its message. So does an {@link AnsweredNo}, which is no fault.
   */
  readonly run: (body: B, call: RequestContext) => object | Promise<object>
}

/** An answer that is a 'no' for the client and no refusal: nothing is wrong. Metrics count it as done. */
export class AnsweredNo {
  readonly errorCode: number
  readonly message: string
  /** Further keys of the answer. */
  readonly own: object

  constructor(errorCode: number, message: string, own: object) {
    this.errorCode = errorCode
    this.message = message
    this.own = own
  }
}

/** A kind of request whose bodies only itself knows. */
export type AnyRequestType = RequestType<unknown>

/** Keeps the type of a request's body while the table holds requests of every kind. */
export function requestType<B>(definition: RequestType<B>): AnyRequestType {
  return definition as unknown as AnyRequestType
}
