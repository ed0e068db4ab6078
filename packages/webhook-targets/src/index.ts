export { TargetProblem, checkAddress, checkAllowedTargets, isLoopbackName, parseDeniedTargets, readTarget, type Target, type TargetPolicy } from './target.ts';
