"""ysuite as a package of Conan 2: `conan create crates/ysuite-c`. Built by cargo, which must be there."""

import os

from conan import ConanFile
from conan.tools.files import copy, rm


class Ysuite(ConanFile):
    name = "ysuite"
    version = "0.1.0"
    license = "MIT OR Apache-2.0"
    description = "Channels between the threads of one process, for C11 and C++17"
    package_type = "library"
    settings = "os", "arch", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": True}

    def export_sources(self):
        # The workspace, or the published crate alone.
        here = self.recipe_folder
        root = os.path.join(here, "..", "..")
        is_workspace = os.path.exists(os.path.join(root, "Cargo.lock"))
        left_out = ("target/*", ".git/*", "*/target/*")
        copy(self, "*", root if is_workspace else here, self.export_sources_folder, excludes=left_out)

    def package(self):
        nested = os.path.join(self.source_folder, "crates", "ysuite-c")
        folder = nested if os.path.isdir(nested) else self.source_folder
        profile = "--debug" if self.settings.build_type == "Debug" else ""
        self.run(f'"{folder}/install" --prefix "{self.package_folder}" {profile}')
        copy(self, "LICENSE-*", folder, os.path.join(self.package_folder, "licenses"))
        rm(self, "libysuite.a" if self.options.shared else "libysuite.so*", os.path.join(self.package_folder, "lib"))

    def package_info(self):
        self.cpp_info.libs = ["ysuite"]
        self.cpp_info.set_property("cmake_file_name", "ysuite")
        self.cpp_info.set_property("cmake_target_name", "ysuite::ysuite")
        self.cpp_info.set_property("pkg_config_name", "ysuite")
        if not self.options.shared:
            self.cpp_info.system_libs = ["util", "rt", "pthread", "m", "dl"]
