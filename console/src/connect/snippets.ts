/** Where an application connects, and what it is about. */
export interface Connected {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** Empty: the default one. */
  readonly namespaceId: string
  /** Empty where nobody has to sign in. */
  readonly username: string
  readonly about:
    | { readonly kind: 'config'; readonly group: string; readonly dataId: string }
    | { readonly kind: 'service'; readonly group: string; readonly name: string }
}

/** A piece of code for a library of clients. */
export interface Snippet {
  readonly library: string
  /** The commands that install it. */
  readonly install: string
  readonly code: string
}

const q = (text: string): string => JSON.stringify(text)

/** Code for each library that is tested with this server. The password is read from the environment. */
export function snippetsFor(to: Connected): Snippet[] {
  return [java(to), go(to), node(to), python(to), rust(to), curl(to)]
}

const addressOf = ({ host, port }: Connected): string => `${host}:${port}`
/** Lines that only some need. */
const lines = (...all: readonly (string | false)[]): string => all.filter((line) => line !== false).join('\n')

function java(to: Connected): Snippet {
  const { namespaceId, username, about } = to
  const start = lines(
    'Properties properties = new Properties();',
    `properties.put("serverAddr", ${q(addressOf(to))});`,
    namespaceId !== '' && `properties.put("namespace", ${q(namespaceId)});`,
    username !== '' && `properties.put("username", ${q(username)});`,
    username !== '' && 'properties.put("password", System.getenv("WAYPOST_PASSWORD"));',
  )
  const code =
    about.kind === 'config'
      ? `ConfigService configs = NacosFactory.createConfigService(properties);
String content = configs.getConfig(${q(about.dataId)}, ${q(about.group)}, 5000);
configs.addListener(${q(about.dataId)}, ${q(about.group)}, new AbstractListener() {
    @Override
    public void receiveConfigInfo(String changed) {
        System.out.println(changed);
    }
});`
      : `NamingService naming = NacosFactory.createNamingService(properties);
naming.registerInstance(${q(about.name)}, ${q(about.group)}, "10.0.0.7", 8080);
naming.subscribe(${q(about.name)}, ${q(about.group)},
    event -> System.out.println(((NamingEvent) event).getInstances()));`
  return {
    library: 'Java',
    install: 'com.alibaba.nacos:nacos-client:2.5.1',
    code: `${start}\n\n${code}`,
  }
}

function go(to: Connected): Snippet {
  const { host, port, namespaceId, username, about } = to
  const start = lines(
    'params := vo.NacosClientParam{',
    '\tClientConfig: &constant.ClientConfig{',
    '\t\tTimeoutMs: 5000, NotLoadCacheAtStart: true,',
    namespaceId !== '' && `\t\tNamespaceId: ${q(namespaceId)},`,
    username !== '' && `\t\tUsername: ${q(username)}, Password: os.Getenv("WAYPOST_PASSWORD"),`,
    '\t},',
    `\tServerConfigs: []constant.ServerConfig{{IpAddr: ${q(host)}, Port: ${port}}},`,
    '}',
  )
  const code =
    about.kind === 'config'
      ? `configs, err := clients.NewConfigClient(params) // check err
item := vo.ConfigParam{DataId: ${q(about.dataId)}, Group: ${q(about.group)}}
content, err := configs.GetConfig(item)
item.OnChange = func(_, _, _, changed string) { fmt.Println(changed) }
err = configs.ListenConfig(item)`
      : `naming, err := clients.NewNamingClient(params) // check err
naming.RegisterInstance(vo.RegisterInstanceParam{
\tServiceName: ${q(about.name)}, GroupName: ${q(about.group)},
\tIp: "10.0.0.7", Port: 8080, Weight: 1, Enable: true, Healthy: true, Ephemeral: true,
})
naming.Subscribe(&vo.SubscribeParam{ServiceName: ${q(about.name)}, GroupName: ${q(about.group)},
\tSubscribeCallback: func(instances []model.Instance, _ error) { fmt.Println(instances) }})`
  const install = 'go get github.com/nacos-group/nacos-sdk-go/v2@v2.3.5'
  return { library: 'Go', install, code: `${start}\n${code}` }
}

function node(to: Connected): Snippet {
  const { namespaceId, username, isTls, about } = to
  const isConfig = about.kind === 'config'
  const options = lines(
    isConfig ? `  serverAddr: ${q(addressOf(to))},` : `  serverList: ${q(addressOf(to))},`,
    `  namespace: ${q(isConfig ? namespaceId : namespaceId || 'public')},`,
    !isConfig && '  logger: console,',
    isTls && '  ssl: true,',
    username !== '' && `  username: ${q(username)},`,
    username !== '' && '  password: process.env.WAYPOST_PASSWORD,',
  )
  const code =
    about.kind === 'config'
      ? `const configs = new nacos.NacosConfigClient({
${options}
})
const content = await configs.getConfig(${q(about.dataId)}, ${q(about.group)})
configs.subscribe({ dataId: ${q(about.dataId)}, group: ${q(about.group)} }, (changed) => console.log(changed))`
      : `const naming = new nacos.NacosNamingClient({
${options}
})
await naming.ready()
await naming.registerInstance(${q(about.name)}, { ip: "10.0.0.7", port: 8080 }, ${q(about.group)})
naming.subscribe({ serviceName: ${q(about.name)}, groupName: ${q(about.group)} }, (hosts) => console.log(hosts))`
  return {
    library: 'Node.js',
    install: 'npm install nacos@2.6.3',
    code: `import nacos from 'nacos'\n\n${code}`,
  }
}

function python(to: Connected): Snippet {
  const { namespaceId, username, about } = to
  const start = lines(
    `settings = (ClientConfigBuilder().server_address(${q(addressOf(to))})`,
    namespaceId !== '' && `    .namespace_id(${q(namespaceId)})`,
    username !== '' && `    .username(${q(username)}).password(os.environ["WAYPOST_PASSWORD"])`,
    '    .build())',
  )
  const needed = username === '' ? '' : 'import os\n'
  const code =
    about.kind === 'config'
      ? `configs = await NacosConfigService.create_config_service(settings)
content = await configs.get_config(ConfigParam(data_id=${q(about.dataId)}, group=${q(about.group)}))

async def changed(tenant, data_id, group, content):
    print(content)
await configs.add_listener(${q(about.dataId)}, ${q(about.group)}, changed)`
      : `naming = await NacosNamingService.create_naming_service(settings)
await naming.register_instance(RegisterInstanceParam(
    service_name=${q(about.name)}, group_name=${q(about.group)}, ip="10.0.0.7", port=8080))

async def moved(instances):
    print(instances)
await naming.subscribe(SubscribeServiceParam(
    service_name=${q(about.name)}, group_name=${q(about.group)}, subscribe_callback=moved))`
  const names =
    about.kind === 'config'
      ? 'ClientConfigBuilder, ConfigParam, NacosConfigService'
      : 'ClientConfigBuilder, NacosNamingService, RegisterInstanceParam, SubscribeServiceParam'
  return {
    library: 'Python',
    install: 'pip install nacos-sdk-python==2.0.11',
    code: `${needed}from v2.nacos import ${names}\n\n${start}\n${code}`,
  }
}

function rust(to: Connected): Snippet {
  const { namespaceId, username, about } = to
  const user = username === '' ? '' : `, username=${q(username)}, password=os.environ["WAYPOST_PASSWORD"]`
  const start = `${username === '' ? '' : 'import os\n'}from nacos_sdk_rust_binding_py import *

options = ClientOptions(${q(addressOf(to))}, ${q(namespaceId)}${user})`
  const code =
    about.kind === 'config'
      ? `configs = NacosConfigClient(options)
content = configs.get_config(${q(about.dataId)}, ${q(about.group)})
configs.add_listener(${q(about.dataId)}, ${q(about.group)}, lambda item: print(item.content))`
      : `naming = NacosNamingClient(options)
naming.register_instance(${q(about.name)}, ${q(about.group)}, NacosServiceInstance("10.0.0.7", 8080))
naming.subscribe(${q(about.name)}, ${q(about.group)}, [], lambda instances: print([one.port for one in instances]))`
  return {
    library: 'Rust',
    install: 'pip install nacos-sdk-rust-binding-py==0.8.0',
    code: `${start}\n${code}`,
  }
}

function curl(to: Connected): Snippet {
  const { namespaceId, username, isTls, about } = to
  const server = `${isTls ? 'https' : 'http'}://${addressOf(to)}`
  const names = new URLSearchParams(
    about.kind === 'config'
      ? { dataId: about.dataId, group: about.group, ...(namespaceId === '' ? {} : { tenant: namespaceId }) }
      : { serviceName: about.name, groupName: about.group, ...(namespaceId === '' ? {} : { namespaceId }) },
  )
  const path = about.kind === 'config' ? '/svc/v1/cs/configs' : '/svc/v1/ns/instance/list'
  const signIn = lines(
    username !== '' &&
      `token=$(curl -s '${server}/svc/v1/auth/login' -d username=${username} \\
  --data-urlencode password="$WAYPOST_PASSWORD" | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')`,
  )
  const header = username === '' ? '' : ' -H "Authorization: Bearer $token"'
  return {
    library: 'curl',
    install: '',
    code: lines(signIn !== '' && signIn, `curl '${server}${path}?${names.toString()}'${header}`),
  }
}
