import type { ParameterRules } from './route.ts'

/** `/svc`: values as they are, booleans by their known spellings only. */
export const SVC_RULES: ParameterRules = Object.freeze({ trim: false, lenientBooleans: false })

/** `/nacos` configuration, console and core: values as they are, any unreadable boolean is false. */
export const NACOS_CONFIG_RULES: ParameterRules = Object.freeze({ trim: false, lenientBooleans: true })

/**
 * `/nacos` naming: values trimmed, any unreadable boolean is false (http-compat.md section 0). `None` is how
 * the Python client spells a cluster that its user has not named; it leaves the parameter out elsewhere, and
 * its instances could not be deregistered if the word were taken for a name.
 */
export const NACOS_NAMING_RULES: ParameterRules = Object.freeze({
  trim: true,
  lenientBooleans: true,
  absentText: 'None',
})
