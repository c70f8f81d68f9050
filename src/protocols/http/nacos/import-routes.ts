import type { Operations } from '../../../operations/operations.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/parameter-rules.ts'
import { cloneEndpoint } from '../endpoints/transfer/clone-endpoint.ts'
import { importEndpoint, type ImportLimits } from '../endpoints/transfer/import-endpoint.ts'
import { placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_DEFAULTS } from './config-defaults.ts'
import { nacosTransferAnswers } from './import-answers.ts'

/** `POST /nacos/v1/cs/configs` with `import=true` or `clone=true` in the query (http-compat.md section 3). */
export function nacosImportRoutes(
  { transfer }: { transfer: Operations['transfer'] },
  limits: ImportLimits,
): Route[] {
  const parts = { limits, rules: NACOS_CONFIG_RULES, answers: nacosTransferAnswers }
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1/cs', [
    ['POST', '/configs', importEndpoint(transfer, parts)],
    ['POST', '/configs', cloneEndpoint(transfer, nacosTransferAnswers)],
  ])
}
