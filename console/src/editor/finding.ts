/** Something wrong with the form of a text. `text` is the key, or what the reader of the format says. */
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
    | `yaml.${string}`
    | 'toml'
  readonly text: string
  readonly from: number
  readonly to: number
}
