import { describeLibrary } from './describe-library.ts'
import { GO } from './go-program.ts'

describeLibrary('Go', ['go'], GO)
