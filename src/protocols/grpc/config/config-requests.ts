import type { Operations } from '../../../operations/operations.ts'
import type { PublishLimits } from '../../parameters/publish-params.ts'
import type { AnyRequestType } from '../requests/request-type.ts'
import { batchListen } from './batch-listen.ts'
import { fuzzyConfigs } from './fuzzy-configs.ts'
import { publishConfig } from './publish-config.ts'
import { queryConfig } from './query-config.ts'
import { removeConfig } from './remove-config.ts'

/** Dependencies of the requests on configurations. */
export interface ConfigRequestParts {
  readonly operations: Pick<Operations, 'configs' | 'gray' | 'listening' | 'configPatterns'>
  readonly limits: PublishLimits & { readonly maxListeningItems: number }
  /** Runs something later, and keeps no process alive for it. */
  readonly after: (ms: number, run: () => void) => void
}

/** The requests on configurations (grpc-compat.md section 4). */
export function configRequests({ operations, limits, after }: ConfigRequestParts): AnyRequestType[] {
  const { configs, gray, listening } = operations
  return [
    queryConfig(configs),
    publishConfig({ configs, gray }, limits),
    removeConfig({ configs, gray }),
    batchListen({ listening, after, maxListeningItems: limits.maxListeningItems }),
    fuzzyConfigs(operations.configPatterns, after),
  ]
}
