/** How the persistent instances of a cluster are probed (http-compat.md section 4). NONE: not at all. */
export type HealthChecker =
  | { readonly type: 'TCP' }
  | {
      readonly type: 'HTTP'
      readonly path: string
      /** `name:value|name2:value2` */
      readonly headers: string
      readonly expectedResponseCode: number
    }
  | { readonly type: 'MYSQL'; readonly user: string; readonly pwd: string; readonly cmd: string }
  | { readonly type: 'NONE' }

/** The checker of a cluster without a configuration. */
export const DEFAULT_CHECKER: HealthChecker = { type: 'TCP' }
