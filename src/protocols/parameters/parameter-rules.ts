/** How parameters of a route are read: which oddities of clients it bears with (http-compat.md section 0). */
export interface ParameterRules {
  /** Values are trimmed (naming), or taken as they are (configuration). */
  readonly trim: boolean
  /** An unreadable boolean is false (as clients of `/nacos` expect), or refused. */
  readonly lenientBooleans: boolean
  /** A text by which clients of this part say that an optional parameter is absent. */
  readonly absentText?: string
  /** How deeply a JSON parameter may be nested; absent: as deep as it likes. */
  readonly maxJsonDepth?: number
}

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
