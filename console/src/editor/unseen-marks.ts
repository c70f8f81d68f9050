import type { Extension } from '@codemirror/state'
import { highlightSpecialChars, highlightTrailingWhitespace } from '@codemirror/view'
import { UNSEEN } from '../../../src/formats/unseen.ts'

/** Shows characters that nobody sees: a mark with the name of the character. Blanks at the end of a property belong to its value. */
export const unseenMarks = (type: string): Extension => [
  highlightSpecialChars({ addSpecialChars: UNSEEN }),
  type === 'properties' ? highlightTrailingWhitespace() : [],
]
