export { TargetProblem, checkAddress, checkAllowedTargets, isLoopbackName, readTarget, type Target, type TargetPolicy } from './target.ts';
