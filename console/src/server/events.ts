/** Something that is different now, with its names; see the operation `GET /svc/v1/console/events`. */
export interface LiveEvent {
  readonly kind:
    | 'config'
    | 'service'
    | 'namespace'
    | 'switch'
    | 'user'
    | 'role'
    | 'permission'
    | 'server'
    | 'rights'
    | 'watchers'
    | 'condition'
    | 'audit'
  readonly namespaceId?: string
  readonly group?: string
  readonly dataId?: string
  readonly groupName?: string
  readonly serviceName?: string
}

/** Where the stream of events is, for the page. */
export const EVENTS_ADDRESS = new URL('../svc/v1/console/events', location.href).href
