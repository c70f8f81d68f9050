import { json } from '@codemirror/lang-json'
import { xml } from '@codemirror/lang-xml'
import { yaml } from '@codemirror/lang-yaml'
import { StreamLanguage } from '@codemirror/language'
import { properties } from '@codemirror/legacy-modes/mode/properties'
import { toml } from '@codemirror/legacy-modes/mode/toml'
import type { Extension } from '@codemirror/state'

/** How texts of a type are coloured and folded. */
export function languageOf(type: string): Extension {
  switch (type) {
    case 'yaml':
      return yaml()
    case 'json':
      return json()
    case 'xml':
    case 'html':
      return xml()
    case 'properties':
      return StreamLanguage.define(properties)
    case 'toml':
      return StreamLanguage.define(toml)
    default:
      return []
  }
}
