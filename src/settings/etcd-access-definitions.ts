import { type Definition, textSetting } from './setting.ts'

/** Settings of a server's credentials for etcd, and of the etcd that it trusts. The password itself is no setting. */
export const etcdAccessDefinitions = {
  etcdUser: textSetting('etcd-user', {
    default: '',
    meaning: 'The user of etcd, where etcd asks who calls. Its role may read and write `etcd-prefix`.',
    detail:
      'The password is in `etcd-password-file`, or in the environment variable `WAYPOST_ETCD_PASSWORD`.',
  }),
  etcdPasswordFile: textSetting('etcd-password-file', {
    default: '',
    meaning: 'A file with the password of `etcd-user`. It wins over `WAYPOST_ETCD_PASSWORD`.',
    detail: 'It is read again for each token. A line break at its end is no part of the password.',
  }),
  etcdCa: textSetting('etcd-ca', {
    default: '',
    meaning: 'A PEM file with the authorities that sign certificates of etcd. For https endpoints.',
    detail:
      'Empty: the authorities that Node.js trusts. The files of `etcd-ca`, `etcd-cert` and `etcd-key` are read for each connection: renewed ones need no restart.',
  }),
  etcdCert: textSetting('etcd-cert', {
    default: '',
    meaning: 'A PEM file with the certificate that this server shows to etcd, and its chain.',
  }),
  etcdKey: textSetting('etcd-key', {
    default: '',
    meaning: 'The PEM file with the private key of `etcd-cert`.',
  }),
  secretsKeyFile: textSetting('secrets-key-file', {
    default: '',
    meaning:
      'A file with the keys that encrypt the secrets in etcd: hashes of passwords, signing keys, sessions.',
    detail:
      'A line is a name and 32 random bytes in base64; the first key encrypts, all decrypt. Or set the environment variable `WAYPOST_SECRETS_KEYS`. See [several servers](cluster.md#encrypt-the-secrets-in-etcd).',
  }),
} satisfies Readonly<Record<string, Definition<unknown>>>
