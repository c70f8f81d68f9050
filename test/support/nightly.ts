/**
 * Whether this is the run of `npm run test:nightly`: the tests take their long forms. Files that run only then end in
 * `.night.test.ts`.
 */
export const isNightly = process.env['NIGHTLY'] === 'true'
