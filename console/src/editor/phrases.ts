import { language, t, textIfAny } from '../language/text.ts'
import type { Finding } from '../../../src/formats/finding.ts'

/** The phrases of the editor by the English ones, in the language of the page. */
export function editorPhrases(): Record<string, string> {
  return language.value === 'en' ? {} : CHINESE
}

/** The message for an error in the form of a text. */
export function sayFinding({ code, text }: Finding): string {
  if (code.startsWith('yaml.')) return language.value === 'en' ? text : (CHINESE_YAML[code] ?? text)
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
