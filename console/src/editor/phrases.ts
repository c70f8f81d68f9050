import { language, t, textIfAny } from '../language/text.ts'
import type { Finding } from './finding.ts'

/** The phrases of the editor by the English ones, in the language of the page. */
export function editorPhrases(): Record<string, string> {
  return language.value === 'en' ? {} : CHINESE
}

/** What is wrong with the form of a text. */
export function sayFinding({ code, text }: Finding): string {
  return textIfAny(`finding.${code}`)?.replace('{text}', text) ?? t('finding.wrongForm')
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
