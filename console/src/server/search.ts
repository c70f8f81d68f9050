import type { GrayOnlyConfig } from './answers.ts'
import type { Hit } from './configs.ts'
import { request } from './request.ts'

/** A configuration that was found. */
export interface FoundConfig {
  /** `public` is the default one. */
  readonly namespaceId: string
  readonly dataId: string
  readonly group: string
  /** Lines of its content that have the text. */
  readonly hits: readonly Hit[]
}

/** A service that was found. */
export interface FoundService {
  readonly namespaceId: string
  readonly groupName: string
  readonly serviceName: string
}

/** An instance that was found. */
export interface FoundInstance extends FoundService {
  readonly ip: string
  readonly port: number
  readonly clusterName: string
  readonly healthy: boolean
  readonly enabled: boolean
}

/** The first of each kind, and how many there are. */
export interface FoundEverywhere {
  readonly configs: readonly FoundConfig[]
  readonly configCount: number
  /** Found by their contents. */
  readonly contents: readonly FoundConfig[]
  /** Items that have gray versions and no version for all. */
  readonly grayOnly: readonly GrayOnlyConfig[]
  readonly services: readonly FoundService[]
  readonly serviceCount: number
  readonly instances: readonly FoundInstance[]
  readonly instanceCount: number
  readonly truncated: boolean
  /** Where the list of configurations with this content continues; null where all were searched. */
  readonly next: string | null
}

/** Finds a text in everything that the user may read. */
export const searchEverywhere = (text: string): Promise<FoundEverywhere> =>
  request('GET', 'svc/v1/console/search', { query: { text } })
