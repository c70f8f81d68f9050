/** Something wrong with the form of a text, or odd in it. `text` is the key or the name, or what the reader of the format says. */
export interface Finding {
  readonly code:
    | 'duplicateKey'
    | 'afterEnd'
    | 'tooDeep'
    | 'keyExpected'
    | 'colonExpected'
    | 'commaOrEndExpected'
    | 'wrongString'
    | 'valueExpected'
    | 'wrongForm'
    | 'wrongEscape'
    | 'wrongCharacter'
    | 'wrongTab'
    | 'startExpected'
    | 'noAnchor'
    | 'wrongAnchor'
    | 'wrongMerge'
    | 'wrongTagged'
    | 'unknownTag'
    | 'recursiveAlias'
    | 'tooManyAliases'
    | 'wrongEndTag'
    | 'noEndTag'
    | 'noElement'
    | 'outsideRoot'
    | 'duplicateAttribute'
    | 'noEntity'
    | `yaml.${string}`
    | 'toml'
    | 'longTable'
    | 'wrongMoment'
    | Warning
  readonly text: string
  readonly from: number
  readonly to: number
}

/** Readers take it, but people may not have meant it. */
type Warning = 'unseen' | 'wideColon' | 'blankAtEnd' | 'lastCounts'

const WARNINGS: ReadonlySet<string> = new Set<Warning>(['unseen', 'wideColon', 'blankAtEnd', 'lastCounts'])

/** Whether readers of the format take the text nevertheless. */
export const isWarning = ({ code }: Finding): boolean => WARNINGS.has(code)
