/** How parameters of a route are read: the oddities of clients that it accepts (http-compat.md section 0). */
export interface ParameterRules {
  /** Values are trimmed (naming), or taken as they are (configuration). */
  readonly trim: boolean
  /** An unreadable boolean is false (as clients of `/nacos` expect), or refused. */
  readonly lenientBooleans: boolean
  /** A text that clients of this part send for an absent optional parameter. */
  readonly absentText?: string
  /** The greatest depth of a JSON parameter; absent: no limit. */
  readonly maxJsonDepth?: number
}

/** `/svc`: values as they are, booleans by their known spellings only. */
export const SVC_RULES: ParameterRules = Object.freeze({ trim: false, lenientBooleans: false })

/** `/nacos` configuration, console and core: values as they are, any unreadable boolean is false. */
export const NACOS_CONFIG_RULES: ParameterRules = Object.freeze({ trim: false, lenientBooleans: true })

/**
 * `/nacos` naming: values trimmed, any unreadable boolean is false (http-compat.md section 0). The Python
 * client sends `None` for a cluster that its user has not named. Elsewhere it omits the parameter, so its instances
 * could not be deregistered if the word were a name.
 */
export const NACOS_NAMING_RULES: ParameterRules = Object.freeze({
  trim: true,
  lenientBooleans: true,
  absentText: 'None',
})
