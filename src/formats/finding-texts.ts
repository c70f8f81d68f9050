import type { Finding } from './finding.ts'

/** The texts of findings in English, by their codes; `{text}` is the text of the finding. */
export const findingTexts = {
  'finding.duplicateKey': 'The key “{text}” occurs twice.',
  'finding.afterEnd': 'There is something after the end.',
  'finding.tooDeep': 'It is nested too deeply.',
  'finding.keyExpected': 'A key is expected here; in JSON, in quotes.',
  'finding.colonExpected': 'A colon is expected here.',
  'finding.commaOrEndExpected': 'A comma or the end of the list or object is expected here.',
  'finding.wrongString': 'This text in quotes is not valid.',
  'finding.valueExpected': 'A value is expected here.',
  'finding.wrongForm': 'The form is not valid here.',
  'finding.wrongEscape': 'This escape is not valid.',
  'finding.wrongCharacter': 'No text of this format has this character.',
  'finding.wrongTab': 'A tab cannot be before a value.',
  'finding.startExpected': '... ends a document. A document behind it begins with ---.',
  'finding.noAnchor':
    'Nothing has the anchor “{text}” before this place. A value that begins with * needs quotes.',
  'finding.wrongAnchor':
    'The name of the anchor “{text}” ends for other readers at “:”, “.”, “/”, “*” or “&”.',
  'finding.wrongMerge': 'Only maps can be merged.',
  'finding.wrongTagged': '“{text}” has not the form that its tag says.',
  'finding.unknownTag': 'YAML has no tag “{text}”.',
  'finding.recursiveAlias': 'An alias leads back to itself.',
  'finding.tooManyAliases': 'Aliases repeat too many values.',
  'finding.wrongEndTag': 'The end tag “{text}” does not belong to the element that is open.',
  'finding.noEndTag': 'The element “{text}” has no end tag.',
  'finding.noElement': 'An element is missing.',
  'finding.outsideRoot': 'Only one element may be at the top, and no text.',
  'finding.duplicateAttribute': 'The attribute “{text}” occurs twice.',
  'finding.noEntity': 'Nothing declares the entity “{text}”.',
  'finding.unseen': 'The character {text} is here, which nobody sees or which looks like a blank.',
  'finding.wideColon': 'This “{text}” is no colon: it belongs to the key.',
  'finding.blankAtEnd': 'The value of “{text}” ends with a blank, which applications keep.',
  'finding.lastCounts': 'The key “{text}” occurs twice: the last one counts.',
  'finding.toml': '{text}',
  'finding.longTable': 'An inline table is on one line, and no comma is at its end.',
  'finding.wrongMoment': '“{text}” is no date or time of TOML 1.0.',
} as const

/** A finding in English. The reader of YAML has texts of its own. */
export function findingText({ code, text }: Finding): string {
  if (code.startsWith('yaml.')) return text
  const known: Readonly<Record<string, string>> = findingTexts
  return (known[`finding.${code}`] ?? findingTexts['finding.wrongForm']).replace('{text}', text)
}
