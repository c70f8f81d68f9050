import { describeLibrary } from './describe-library.ts'
import { JAVA } from './java-program.ts'

describeLibrary('Java', ['java', 'javac', 'mvn'], JAVA)
