import { describeLibrary } from './describe-library.ts'
import { PYTHON } from './python-program.ts'

describeLibrary('Python', ['python3'], PYTHON)
