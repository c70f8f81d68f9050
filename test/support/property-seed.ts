/**
 * Before each file when PROPERTY_SEED is set (vitest.config.ts): property tests take this seed, a whole number, unless they have
 * one of their own. Without it each run takes a new one, which fast-check prints when a property fails.
 */
import { configureGlobal } from 'fast-check'

const seed = Number(process.env['PROPERTY_SEED'])
if (!Number.isInteger(seed)) throw new Error('PROPERTY_SEED is a whole number')
configureGlobal({ seed })
