import type { Operations } from '../../../operations/operations.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import type { PublishLimits } from '../../parameters/publish-params.ts'
import {
  explainGray,
  growGray,
  listGray,
  promoteGray,
  publishGray,
  readGray,
  stopGray,
} from '../endpoints/config/gray-endpoints.ts'
import { problemErrors } from '../errors/problem.ts'
import { placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'

/** `/svc/v1/cs/configs/gray`: texts for some clients. `grayName` names one of an item. */
export function svcGrayRoutes({ gray }: Pick<Operations, 'gray'>, limits: PublishLimits): Route[] {
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/cs/configs', [
    ['GET', '/gray', listGray(gray)],
    ['GET', '/gray/version', readGray(gray)],
    ['GET', '/gray/explain', explainGray(gray)],
    ['POST', '/gray', publishGray(gray, limits)],
    ['PUT', '/gray', growGray(gray)],
    ['DELETE', '/gray', stopGray(gray)],
    ['POST', '/gray/promote', promoteGray(gray)],
  ])
}
