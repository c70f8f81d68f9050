import { language, t, textIfAny } from '../language/text.ts'
import type { Finding } from '../../../src/formats/finding.ts'

/** The phrases of the editor by the English ones, in the language of the page. */
export function editorPhrases(): Record<string, string> {
  return language.value === 'en' ? {} : CHINESE
}

/** The message for an error in the form of a text. */
export function sayFinding({ code, text }: Finding): string {
  if (code.startsWith('yaml.')) return language.value === 'en' ? text : (CHINESE_YAML[code] ?? text)
  if (code === 'toml' && language.value !== 'en') return CHINESE_TOML[text] ?? t('finding.wrongForm')
  return textIfAny(`finding.${code}`)?.replace('{text}', text) ?? t('finding.wrongForm')
}

/** The errors of the reader of YAML by their codes. */
const CHINESE_YAML: Record<string, string> = {
  'yaml.ALIAS_PROPS': '别名不能带锚点或标签。',
  'yaml.BAD_ALIAS': '别名无效。',
  'yaml.BAD_COLLECTION_TYPE': '此处的集合类型无效。',
  'yaml.BAD_DIRECTIVE': '指令无效。',
  'yaml.BAD_DQ_ESCAPE': '双引号中的转义无效。',
  'yaml.BAD_INDENT': '缩进不正确。',
  'yaml.BAD_PROP_ORDER': '锚点和标签必须在 ?、: 或 - 之后。',
  'yaml.BAD_SCALAR_START': '值不能以此字符开头，请加引号。',
  'yaml.BLOCK_AS_IMPLICIT_KEY': '嵌套的映射不能写在同一行。',
  'yaml.BLOCK_IN_FLOW': '行内集合中不能使用块格式。',
  'yaml.MISSING_CHAR': '缺少字符，例如引号、冒号或括号。',
  'yaml.MULTILINE_IMPLICIT_KEY': '键必须写在一行内。',
  'yaml.MULTIPLE_ANCHORS': '一个节点只能有一个锚点。',
  'yaml.MULTIPLE_TAGS': '一个节点只能有一个标签。',
  'yaml.TAB_AS_INDENT': '不能使用 Tab 缩进。',
  'yaml.TAG_RESOLVE_FAILED': '无法识别此标签。',
  'yaml.UNEXPECTED_TOKEN': '此处出现意外的内容。',
  'yaml.RESOURCE_EXHAUSTION': '别名过多。',
}

/** What the reader of TOML says. */
const CHINESE_TOML: Record<string, string> = {
  'control characters are not allowed in comments': '注释中不能有控制字符。',
  'control characters are not allowed in strings': '字符串中不能有控制字符。',
  'document contains excessively nested structures. aborting.': '嵌套过深。',
  'each key-value declaration must be followed by an end-of-line': '每个键值之后必须换行。',
  'expected comma or end of structure': '此处应为逗号或结束括号。',
  'expected end of table array declaration': '表数组的名称须以 ]] 结束。',
  'illegal character in key': '键中有不允许的字符。',
  'illegal empty bare key': '此处应为键。',
  'illegal leading zero': '数字不能以 0 开头。',
  'illegal quoted key: multiline strings are not allowed': '键不能是多行字符串。',
  'illegal underscore': '下划线只能在两个数字之间。',
  'incomplete key-value: cannot find end of key': '键之后应为等号。',
  'integer value cannot be represented losslessly': '整数过大。',
  'invalid date': '日期无效。',
  'invalid date-time: date part is malformed': '日期无效。',
  'invalid date-time: time part is malformed': '时间无效。',
  'invalid escape: only line-ending whitespace may be escaped': '转义无效：只有行尾的空格可以转义。',
  'invalid non-hex character in unicode escape': '转义中应为十六进制数字。',
  'invalid unicode escape': '转义不是有效的字符。',
  'invalid value': '值无效：文本需要加引号。',
  'unexpected end of key': '键不完整。',
  'unfinished array': '数组没有结束。',
  'unfinished numeric value': '数字不完整。',
  'unfinished string': '字符串没有结束。',
  'unfinished table': '表没有结束。',
  'unrecognised escape sequence': '转义无效。',
  'illegal character in numeric literal': '数字中有不允许的字符。',
}

const CHINESE: Record<string, string> = {
  Find: '查找',
  Replace: '替换',
  next: '下一个',
  previous: '上一个',
  all: '全部',
  'match case': '区分大小写',
  regexp: '正则表达式',
  'by word': '全字匹配',
  replace: '替换',
  'replace all': '全部替换',
  close: '关闭',
  'current match': '当前匹配',
  'replaced $ matches': '已替换 $ 处',
  'replaced match on line $': '已替换第 $ 行的匹配',
  'on line': '在行',
  'Go to line': '转到行',
  go: '跳转',
  'Folded lines': '已折叠的行',
  'Unfolded lines': '已展开的行',
  to: '至',
  'folded code': '已折叠的代码',
  unfold: '展开',
  'Fold line': '折叠此行',
  'Unfold line': '展开此行',
  Diagnostics: '诊断',
  'No diagnostics': '没有问题',
  '$ unchanged lines': '$ 行未更改',
  'Control character': '控制字符',
  'Selection deleted': '已删除所选内容',
}
