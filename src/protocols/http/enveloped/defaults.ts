import { NACOS_CONFIG_RULES, NACOS_NAMING_RULES } from '../../parameters/parameter-rules.ts'
import type { RouteDefaults } from '../routing/endpoint.ts'
import { envelopedErrors } from './envelope-errors.ts'

/** How the configuration part and the rest of `/nacos/v2` and `/nacos/v3` read parameters and answer errors. */
export const CONFIG_PART: RouteDefaults = Object.freeze({
  rules: NACOS_CONFIG_RULES,
  errors: envelopedErrors,
})
/** The same for naming. */
export const NAMING_PART: RouteDefaults = Object.freeze({
  rules: NACOS_NAMING_RULES,
  errors: envelopedErrors,
})
