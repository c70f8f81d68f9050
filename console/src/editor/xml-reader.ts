/** Reads XML. It is loaded when an XML text is checked. */
import { xmlLanguage } from '@codemirror/lang-xml'
import type { Finding } from './finding.ts'

/** The reader is slow for some texts that are no XML. Nothing is said of a text that it has not read by then. */
const LONGEST_MS = 2_000
/** Its message for tags that do not belong together. */
const WRONG_TAG = /^(?:Mismatched|Missing|Incomplete|Invalid)/

/** The errors of an XML text. */
export function checkXml(text: string): Finding[] {
  const parse = xmlLanguage.parser.startParse(text)
  const endMs = performance.now() + LONGEST_MS
  let tree = parse.advance()
  while (tree === null && performance.now() < endMs) tree = parse.advance()
  const found: Finding[] = []
  tree?.iterate({
    enter: ({ type, from, to }) => {
      if (type.isError || WRONG_TAG.test(type.name))
        found.push({ code: 'wrongForm', text: '', from, to: Math.max(to, from) })
    },
  })
  return found
}
