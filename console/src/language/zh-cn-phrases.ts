/** The server's rules for values and the results of probes, whole or in parts. Longer parts come first. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/^connected$/, '已连接'],
  [/^connection refused$/, '连接被拒绝'],
  [/^closed before it answered$/, '应答前连接已关闭'],
  [/^no answer within (\d+) ms$/, '$1 毫秒内无应答'],
  [/^query answered$/, '查询有应答'],
  [/^status (\d+)$/, '状态码 $1'],
  [/^not checked$/, '不检查'],
  [/^one of (.+)$/, '以下之一：$1'],
  [/^(?:an integer|a whole number) from (\S+) to (\S+)$/, '$1 到 $2 的整数'],
  [/^(?:an integer|a whole number) of at least (\S+)$/, '不小于 $1 的整数'],
  [/^a whole number (\(\w+\)) from (\S+) to (\S+)$/, '$2 到 $3 的整数$1'],
  [/^a number from (\S+) to (\S+), with at most two decimals$/, '$1 到 $2 的数字，最多两位小数'],
  [/^a number from (\S+) to (\S+)$/, '$1 到 $2 的数字'],
  [/^a number of at least (\S+)$/, '不小于 $1 的数字'],
  [/^true or false$/, 'true 或 false'],
  [/^a text that is not blank$/, '不能为空白'],
  [
    /^at most (\d+) tags of at most (\d+) characters, separated by commas$/,
    '最多 $1 个标签，每个最多 $2 个字符，用逗号分隔',
  ],
  [
    /^a name, or <group>@@<name>, of at most (\d+) characters without spaces or CJK characters$/,
    '名称，或 <group>@@<name>，最多 $1 个字符，不含空格和中文等字符',
  ],
  [/^an IP address or a host name of at most (\d+) characters$/, 'IP 地址或主机名，最多 $1 个字符'],
  [/^at most (\d+) gray versions of an item$/, '每个配置项最多 $1 个灰度版本'],
  [/^at most (\d+) bytes of UTF-8 in .*keys and values.* together$/, '键和值合计最多 $1 字节（UTF-8）'],
  [/^(\d+) to (\d+) of the characters (.+?)(?: and (\S+))?$/, '$1 到 $2 个字符，只能包含 $3 $4'],
  [
    /^label=value, or label=value,value, of the characters (.+)$/,
    'label=value，或 label=value,value，只能包含 $1',
  ],
  [/^such that each label is named once between two \|\|$/, '两个 || 之间每个标签只能出现一次'],
  [/^addresses, separated by commas$/, 'IP 地址，用逗号分隔'],
  [/^(.+) for this rule$/, '此规则只能使用 $1'],
  [/^a version such as (\S+)$/, '版本号，例如 $1'],
  [/^names separated by commas, or a JSON array of strings$/, '用逗号分隔的名称，或 JSON 字符串数组'],
  [
    /^a JSON object of min and max \(ms, min <= max\) and factor \(0 to 1\)$/,
    '包含 min、max（毫秒，min <= max）和 factor（0 到 1）的 JSON 对象',
  ],
  [
    /^url:status pairs separated by commas.*$/,
    '用逗号分隔的 url:status，url 以 / 开头，status 为 200 到 599',
  ],
  [/^(.+), or null$/, '$1 或 null'],
  [/^java, python, c, go or csharp, a colon and x\.y\.z$/, 'java、python、c、go 或 csharp，后接冒号和 x.y.z'],
  [/^a JSON object of switches$/, '由开关组成的 JSON 对象'],
  [/^valid JSON$/, '有效的 JSON'],
  [/^a JSON object or k=v,k2=v2$/, 'JSON 对象，或 k=v,k2=v2'],
  [
    /^CONSUMER\.label\.NAME = PROVIDER\.label\.NAME, joined by &$/,
    'CONSUMER.label.NAME = PROVIDER.label.NAME，用 & 连接',
  ],
  [/^a zip file as an export gives it$/, '由导出得到的 zip 文件'],
  [/^ids of items, separated by commas$/, '配置项的 id，用逗号分隔'],
  [
    / or operator\/metrics, of at most (\d+) characters, with \* for any characters$/,
    ' 或 operator/metrics，最多 $1 个字符，* 代表任意字符',
  ],
  [/^cluster names separated by commas, /, '用逗号分隔的集群名，'],
  [/^empty, or /, '为空，或'],
  [/^\*, or /, '*，或'],
  [/(?:a text of )?at most (\d+) characters(?: long)?/, '最多 $1 个字符'],
  [/^at most (\d+) items and (.+) in one export$/, '一次导出最多 $1 项、$2'],
  [/^at most (\d+) (?:items|parts|parameters)$/, '最多 $1 个'],
  [/at least (\d+) characters/, '至少 $1 个字符'],
  [/(?:a text of )?at most (\d+) bytes of UTF-8/, '最多 $1 字节（UTF-8）'],
  [/^at most (\d+) bytes$/, '最多 $1 字节'],
  [/: letters, digits and _ - \. : only/, '，只能包含字母、数字和 _ - . :'],
  [/:? ?letters a-z and A-Z, digits, _ and - only/, '，只能包含 a-z、A-Z、数字、_ 和 -'],
  [/, none of them invisible, and no blank at the start or the end/, '，不含不可见字符，首尾不能有空白'],
  [/^without characters that nobody sees$/, '不含不可见字符'],
  [/, and not - alone/, '，不能只有 -'],
  [/, not blank, without /, '，不能为空白，不含 '],
]

/** A phrase of the server in Chinese; one that is not known stays as it is. */
export function phraseZhCn(phrase: string): string {
  const text = PARTS.reduce((sum, [part, chinese]) => sum.replace(part, chinese), phrase)
  return text.replace('，，', '，').trim()
}
