/**
 * Tables of the database of the Java server, as its versions have them: which columns there are, and what they hold. Only what a
 * plan reads is here.
 */

/** The versions whose tables differ. */
export type SchemaVersion = '1.4' | '2.1' | '2.5'

/** The statements that make the tables of a version in a database. */
export function schemaOf(version: SchemaVersion, database: string): string[] {
  const key = version === '1.4' ? [] : ["encrypted_data_key varchar(1024) NOT NULL DEFAULT ''"]
  const item = [
    'data_id varchar(255) NOT NULL',
    'group_id varchar(255)',
    "tenant_id varchar(128) DEFAULT ''",
    'app_name varchar(128)',
  ]
  const content = [
    'content longtext NOT NULL',
    'md5 varchar(32)',
    'gmt_create datetime NOT NULL',
    'gmt_modified datetime NOT NULL',
    'src_user text',
    'src_ip varchar(50)',
    ...key,
  ]
  const id = 'id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY'
  const tables: Record<string, readonly string[]> = {
    config_info: [
      id,
      ...item,
      ...content,
      'c_desc varchar(256)',
      'c_use varchar(64)',
      'effect varchar(64)',
      'type varchar(64)',
      'c_schema text',
      'UNIQUE (data_id, group_id, tenant_id)',
    ],
    config_info_beta: [id, ...item, ...content, 'beta_ips varchar(1024)'],
    config_info_tag: [
      id,
      ...item,
      ...content.filter((column) => !column.startsWith('encrypted')),
      'tag_id varchar(128) NOT NULL',
    ],
    config_tags_relation: [
      'id bigint NOT NULL',
      'tag_name varchar(128) NOT NULL',
      'tag_type varchar(64)',
      'nid bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
    ],
    his_config_info: [
      'id bigint unsigned NOT NULL',
      'nid bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY',
      ...item,
      ...content,
      'op_type char(10)',
      ...(version === '2.5'
        ? ["publish_type varchar(50) DEFAULT 'formal'", 'gray_name varchar(50)', 'ext_info longtext']
        : []),
    ],
    tenant_info: [
      id,
      'kp varchar(128)',
      'tenant_id varchar(128)',
      'tenant_name varchar(128)',
      'tenant_desc varchar(256)',
    ],
    tenant_capacity: [id, 'tenant_id varchar(128)', 'quota int', '`usage` int', 'max_size int'],
    users: ['username varchar(50) PRIMARY KEY', 'password varchar(500) NOT NULL', 'enabled boolean NOT NULL'],
    roles: ['username varchar(50) NOT NULL', 'role varchar(50) NOT NULL'],
    permissions: [
      'role varchar(50) NOT NULL',
      'resource varchar(255) NOT NULL',
      '`action` varchar(8) NOT NULL',
    ],
  }
  if (version === '2.5')
    tables['config_info_gray'] = [
      id,
      ...item,
      ...content,
      'gray_name varchar(128) NOT NULL',
      'gray_rule text NOT NULL',
    ]
  if (version !== '2.5') tables['config_info_aggr'] = [id, 'data_id varchar(255)', 'content longtext']
  return [
    `CREATE DATABASE ${database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    `USE ${database}`,
    ...Object.entries(tables).map(([name, columns]) => `CREATE TABLE ${name} (${columns.join(', ')})`),
  ]
}
